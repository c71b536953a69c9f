// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Tether behaves as USDT does on Ethereum where a till would notice: transfers
// return nothing, the owner can take a fee of them, pause them, and bar accounts.
contract Tether {
    string public constant symbol = "USDT";
    uint8 public decimals = 6;
    bool public paused;
    bool public deprecated;
    uint public basisPointsRate;
    address public owner = msg.sender;
    mapping(address => uint) public balanceOf;
    mapping(address => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint value);
    event Issue(uint amount);

    constructor() {
        balanceOf[msg.sender] = 1e15;
    }

    function transfer(address to, uint value) public {
        move(msg.sender, to, value);
    }

    // transferFrom needs no allowance here, as that of nothing needs none in USDT.
    function transferFrom(address from, address to, uint value) public {
        move(from, to, value);
    }

    function move(address from, address to, uint value) private {
        require(!paused && !isBlackListed[from]);
        uint fee = value * basisPointsRate / 10000;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        emit Transfer(from, to, value - fee);
    }

    // issue makes more without any transfer, as USDT's does.
    function issue(address to, uint amount) public {
        balanceOf[to] += amount;
        emit Issue(amount);
    }

    function setFee(uint basisPoints) public {
        basisPointsRate = basisPoints;
    }

    function pause(bool on) public {
        paused = on;
    }

    function bar(address account, bool on) public {
        isBlackListed[account] = on;
    }

    // several pays many in one transaction.
    function several(address[] calldata to, uint value) public {
        for (uint i = 0; i < to.length; i++) {
            move(msg.sender, to[i], value);
        }
    }

    // moody pays one in blocks of even heights, and the other in odd ones.
    function moody(address even, address odd, uint value) public {
        move(msg.sender, block.number % 2 == 0 ? even : odd, value);
    }
}

// Pegged behaves as Tether and has the decimals of USDT on BNB Smart Chain.
contract Pegged is Tether {
    constructor() {
        decimals = 18;
        balanceOf[msg.sender] = 1e27;
    }
}
